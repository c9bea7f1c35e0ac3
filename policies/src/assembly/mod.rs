//! What is put into the prompt beside the conversation: attachments, instructions, cache breakpoints.
