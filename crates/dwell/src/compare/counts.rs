//! The counts that a program of any origin wrote into a file: a number for each pixel.

use super::raster::{Content, Raster};
use super::value::Value;
use super::{piece, pieces};
use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::{Limits, filled};
use crate::base::place::Place;
use crate::view::Size;

impl Raster {
    /// Reads a count for each pixel, row by row from the top left. In a field it is the number of the pixel. In an image it
    /// is the sum of the red, green and blue values of the file, each times its weight: `[1, 0, 0]` for a grey image,
    /// `[65536, 256, 1]` where the three bytes of a colour are those of the count.
    ///
    /// # Errors
    /// [`Error::Input`] when the file is damaged, a number is no integer from 0 to 2^32 - 1, or the counts take more memory
    /// than `limits` allows; [`Error::Interrupted`] after `cancel` was set.
    pub fn counts(self, weights: [u32; 3], limits: &Limits, cancel: &Cancel) -> Result<Vec<u32>, Error> {
        let (name, size) = (self.name().to_owned(), self.size());
        let of_file = |error: InputError| error.in_file(&name);
        limits.reserve("counts", size.pixels().saturating_mul(4).saturating_add(self.memory_bytes()))?;
        let mut counts = filled(usize::try_from(size.pixels()).unwrap_or(usize::MAX), 0, "counts")?;
        match self.content {
            Content::Field(mut cells) => {
                let mut values = piece(Value::Whole(0))?;
                each_piece(size, &mut counts, cancel, |counts, column, row| {
                    let values = &mut values[..counts.len()];
                    cells.read(values)?;
                    for (at, (count, value)) in counts.iter_mut().zip(values).enumerate() {
                        let of_value = value.dwell().and_then(|dwell| u32::try_from(dwell).ok());
                        *count = of_value.ok_or_else(|| no_count(&value.to_string(), column + at as u64, row))?;
                    }
                    Ok(())
                })
                .and_then(|()| Ok(cells.finish()?))
            }
            Content::Image { mut pixels, most, .. } => {
                let mut colours = piece([0; 4])?;
                each_piece(size, &mut counts, cancel, |counts, column, row| {
                    let colours = &mut colours[..counts.len()];
                    pixels.read(colours)?;
                    for (at, (count, colour)) in counts.iter_mut().zip(colours).enumerate() {
                        // Channels were scaled from 0..=most to 0..=65535 and rounded to nearest, which this undoes.
                        let value = |channel: u16| (u64::from(channel) * u64::from(most) + 32_767) / 65_535;
                        let sum: u64 = (0..3).map(|i| value(colour[i]) * u64::from(weights[i])).sum();
                        *count = u32::try_from(sum).map_err(|_| no_count(&sum.to_string(), column + at as u64, row))?;
                    }
                    Ok(())
                })
                .and_then(|()| Ok(pixels.finish()?))
            }
        }
        .map_err(|error| match error {
            Error::Input(error) => of_file(error).into(),
            other => other,
        })?;
        Ok(counts)
    }
}

/// Calls `read` for each piece of a row, with its counts, column and row, and checks the stop flag after each.
fn each_piece(
    size: Size,
    counts: &mut [u32],
    cancel: &Cancel,
    mut read: impl FnMut(&mut [u32], u64, u64) -> Result<(), InputError>,
) -> Result<(), Error> {
    let mut rest = counts;
    for (columns, row) in pieces(size) {
        let (now, later) = rest.split_at_mut(columns.len());
        read(now, columns.start.into(), row.into())?;
        rest = later;
        cancel.check()?;
    }
    Ok(())
}

fn no_count(given: &str, column: u64, row: u64) -> InputError {
    InputError::malformed(format!("{given} is no count"))
        .accepts("integers from 0 to 4294967295")
        .within(Place::Pixel { column, row })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(bytes: &[u8], weights: [u32; 3]) -> Result<Vec<u32>, Error> {
        let limits = Limits::default();
        Raster::from_bytes(bytes.to_vec(), "x", &limits)?.counts(weights, &limits, &Cancel::default())
    }

    #[test]
    fn fields_and_images_hold_counts() {
        assert_eq!(counts(b"1,2,0\n4294967295,5.0,6\n", [1, 0, 0]).unwrap(), [1, 2, 0, u32::MAX, 5, 6]);
        assert_eq!(counts(b"P5 3 1 255 \x00\x07\xff", [1, 0, 0]).unwrap(), [0, 7, 255]);
        // A greatest value that is not 255 scales the channels.
        assert_eq!(counts(b"P5 3 1 100 \x00\x07\x64", [1, 0, 0]).unwrap(), [0, 7, 100]);
        let all: Vec<u8> = (0..=999_u16).flat_map(u16::to_be_bytes).collect();
        let grey = [b"P5 1000 1 999 ".as_slice(), &all].concat();
        assert_eq!(counts(&grey, [1, 0, 0]).unwrap(), (0..1000).collect::<Vec<u32>>());
        assert_eq!(counts(b"P6 1 1 255 \x01\x02\x03", [65_536, 256, 1]).unwrap(), [0x01_02_03]);
        assert_eq!(counts(b"P6 1 1 65535 \xff\xff\x01\x00\x00\x02", [1, 1, 1]).unwrap(), [65_535 + 256 + 2]);
    }

    #[test]
    fn numbers_that_are_no_counts_are_errors_with_their_place() {
        for (bytes, said) in [
            (&b"1,2\n3,1.5\n"[..], "column 1, row 1: 1.5 is no count"),
            (b"1,-2\n", "column 1, row 0: -2 is no count"),
            (b"1,nan\n", "is no count"),
            (b"4294967296,1\n", "4294967296 is no count"),
        ] {
            let error = counts(bytes, [1, 0, 0]).unwrap_err().to_string();
            assert!(error.starts_with("x") && error.contains(said), "{error}");
        }
        let error = counts(b"P6 1 1 255 \xff\xff\xff", [u32::MAX, 1, 1]).unwrap_err().to_string();
        assert!(error.contains("is no count"), "{error}");
        let error = counts(b"P5 2 1 255 x", [1, 0, 0]).unwrap_err().to_string();
        assert!(error.starts_with("x: is cut short"), "{error}");
    }

    #[test]
    fn memory_is_limited_and_the_stop_flag_is_read() {
        let limits = Limits::default();
        let open = || Raster::from_bytes(b"1,2\n3,4\n".to_vec(), "x", &limits).unwrap();
        let tight = Limits { memory_bytes: 10 };
        assert!(open().counts([1, 0, 0], &tight, &Cancel::default()).is_err());
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(matches!(open().counts([1, 0, 0], &limits, &cancel), Err(Error::Interrupted)));
    }
}
