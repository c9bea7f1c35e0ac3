//! Text that is handed in: from a file, from a pipe, from standard input (`-`).

use recount::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// As much as a batch may have: whatever goes on for ever ends here.
const MOST: u64 = 1 << 30;

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    let read = if path.as_os_str() == "-" {
        whole(io::stdin(), MOST)
    } else {
        File::open(path).and_then(|file| whole(file, MOST))
    };
    read.map_err(|cause| {
        Error::invalid(format!(
            "the text cannot be read: {cause}; file={}",
            path.display()
        ))
    })
}

fn whole(from: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = from
        .take(most.saturating_add(1))
        .read_to_string(&mut text)?;
    if read as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::whole;
    use std::io::repeat;

    #[test]
    fn what_goes_on_for_ever_is_told_and_not_waited_for() {
        assert_eq!(whole(&b"words"[..], 5).unwrap(), "words");
        let told = whole(repeat(b'x'), 5).unwrap_err().to_string();
        assert_eq!(told, "it has more than 5 bytes");
        assert!(whole(&b"\xff"[..], 5).is_err(), "no words");
    }
}
