#!/usr/bin/env python3
"""A host in Python: `recount rpc` as a child process, an agent loop around it.

    python3 examples/host.py [PATH/TO/recount]

The model is a stand-in that answers by rule, so that the example runs anywhere. Replace `model` by a call to your provider with
`request["body"]` as it is: send the text, do not parse and write it again, so that the bytes are those that the digest covers.
"""

import json
import subprocess
import sys
import tempfile
import time
import uuid


class Recount:
    """One child process. Calls are answered in order here; a host with many sessions would match answers by `id`."""

    def __init__(self, binary, data):
        self.process = subprocess.Popen(
            [binary, "--data", data, "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.last = 0

    def call(self, method, **params):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": "v1." + method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while "id" not in (answer := json.loads(self.process.stdout.readline())):
            pass  # What it tells by itself (`v1.notify`) has no id, and may come before the answer.
        if "error" in answer:
            error = answer["error"]
            raise RuntimeError(f"{error['data']['kind']}: {error['message']} ({error['data']['next']})")
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def now():
    return int(time.time() * 1000)


def model(request):
    """Stands in for a provider: asks for a tool once, then answers with what the tool said."""
    messages = json.loads(request["body"])["messages"]
    last = messages[-1]["content"]
    results = [block for block in last if block["type"] == "tool_result"]
    if results:
        return {"content": [{"type": "text", "text": f"The tool says: {results[0]['content']}"}], "stop": "end_turn"}
    call = {"type": "tool_use", "id": f"toolu_{len(messages)}", "name": "count", "input": {"text": last[-1]["text"]}}
    return {"content": [{"type": "text", "text": "Let me count."}, call], "stop": "tool_use"}


def turn(recount, session, words):
    """One turn of an agent: what the person says, then answers and tools until the model is done."""
    say = {"type": "message", "role": "user", "content": words}
    # A key makes the append safe to repeat: after a crash the same key gives the first answer again.
    recount.call("session.append", session=session, events=[say], key=str(uuid.uuid4()))
    while True:
        prompt = recount.call("session.prepare", session=session, now=now())
        if prompt["outcome"] != "ready":
            raise RuntimeError(f"not ready: {prompt['outcome']}")
        answer = model(prompt["request"])
        message = {"type": "message", "role": "assistant", "issued": prompt["digest"], **answer}
        # A response with a call is on disk when this returns: only then may its tools run.
        recount.call("session.append", session=session, events=[message])
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            return answer["content"][0]["text"]
        for call in calls:
            said = f"{len(call['input']['text'].split())} words"
            result = {"type": "tool_result", "call": call["id"], "content": said}
            recount.call("session.append", session=session, events=[result])


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "recount"
    with tempfile.TemporaryDirectory() as data:
        recount = Recount(binary, data)
        recount.call("session.open", session="example", create=True, profile="claude-sonnet-4-5")
        tools = [{"name": "count", "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}}}]
        recount.call("session.append", session="example", events=[{"type": "tools", "tools": tools}])
        print(turn(recount, "example", "How long is this sentence?"))
        before = recount.call("session.project", session="example", heal=True)["digest"]
        print(turn(recount, "example", "And this one, which is a little longer?"))

        rolled = recount.call("session.rollback", session="example", to={"turns": 1})
        print("rolled back:", rolled["digest"] == before)
        recount.call("session.undo", session="example", event=rolled["event"])
        status = recount.call("session.status", session="example")
        print("turns after the undo:", status["turns"])
        recount.close()


if __name__ == "__main__":
    main()
