//! `recount_tests::fuzz::recover_log` on whatever libFuzzer makes up.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_tests::fuzz::recover_log(data));
