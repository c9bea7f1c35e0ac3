//! `recount_tests::fuzz::import_task` on whatever libFuzzer makes up.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_tests::fuzz::import_task(data));
