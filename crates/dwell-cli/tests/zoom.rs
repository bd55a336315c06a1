//! Zooms: frames are the pictures of their scenes, a killed zoom goes on to the same bytes, other files are left alone, and films go
//! through a program named ffmpeg on the path.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A shallow zoom of five small frames.
const SHALLOW: &str = "zoom --center -0.743643887037,0.131825904205 --from 1 --to 1e4 --frames 5 --size 64x36";
/// A deep one, across the end of f64's resolution.
const DEEP: &str = "zoom kf-1e50 --from 1e12 --to 1e16 --frames 3 --size 48x26";

fn frames(folder: &Folder, name: &str) -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<String> = std::fs::read_dir(folder.join(name))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("frame-") && name.ends_with(".png"))
        .collect();
    names.sort();
    names.into_iter().map(|frame| (frame.clone(), folder.read(&format!("{name}/{frame}")))).collect()
}

/// The value of a key in the text of a picture.
fn key(folder: &Folder, picture: &str, name: &str) -> String {
    let text = folder.good(&format!("show {picture}")).text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} = "))).unwrap_or_default().to_owned();
    line.trim_matches('"').to_owned()
}

/// The pixels of a picture of 8 bits.
fn pixels(bytes: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    pixels
}

#[test]
fn frames_are_the_pictures_of_their_scenes() {
    for line in [SHALLOW, DEEP, &format!("{SHALLOW} --fit frame --easing smooth --rotate 30")] {
        let folder = Folder::new();
        folder.good(&format!("{line} -o frames"));
        let frames = frames(&folder, "frames");
        let mut last = 0.0;
        for (name, bytes) in &frames {
            folder.good(&format!("render frames/{name} -o again.png"));
            assert!(folder.read("again.png") == *bytes, "{line}: {name}");
            let zoom: f64 = key(&folder, &format!("frames/{name}"), "zoom").parse().unwrap();
            assert!(zoom > last, "{line}: {name}: {zoom} after {last}");
            last = zoom;
        }
        assert_eq!(frames.len(), if line == DEEP { 3 } else { 5 });
        let end = if line == DEEP { "1e16" } else { "1e4" };
        assert_eq!(key(&folder, &format!("frames/{}", frames.last().unwrap().0), "zoom"), end);
    }
}

#[test]
fn a_film_has_one_scale_unless_it_is_given_or_of_each_frame() {
    let densities = |more: &str| {
        let folder = Folder::new();
        folder.good(&format!("{SHALLOW} -o frames {more}"));
        let of = |(name, _): &(String, Vec<u8>)| {
            let picture = format!("frames/{name}");
            ["scale", "density", "offset"].map(|name| key(&folder, &picture, name)).join(" ")
        };
        frames(&folder, "frames").iter().map(of).collect::<Vec<String>>()
    };
    let film = densities("");
    assert!(film.iter().all(|colours| *colours == film[0] && colours.starts_with("root")), "{film:?}");
    let frame = densities("--fit frame");
    assert!(frame.windows(2).all(|pair| pair[0] != pair[1]), "{frame:?}");
    assert!(densities("--scale log").iter().all(|colours| colours.starts_with("log 1")));
    // Out of a place the same frames come in the other order.
    let folder = Folder::new();
    folder.good(&format!("{SHALLOW} -o in"));
    folder.good(&format!("{} -o out", SHALLOW.replace("--from 1 --to 1e4", "--from 1e4 --to 1")));
    let (inwards, outwards) = (frames(&folder, "in"), frames(&folder, "out"));
    assert!(inwards.iter().zip(outwards.iter().rev()).all(|(a, b)| a.1 == b.1));
}

#[test]
#[cfg(unix)]
fn a_killed_zoom_goes_on_to_the_same_frames() {
    for more in ["", "--method exponential"] {
        let folder = Folder::new();
        let line = format!("{SHALLOW} --frames 40 {more}").replace("--frames 5 ", "");
        folder.good(&format!("{line} -o whole"));
        let whole = frames(&folder, "whole");
        let mut kills = 0;
        loop {
            let mut command = folder.command();
            command.args(format!("{line} -o out").split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let began = Instant::now();
            let there = || if folder.join("out").exists() { frames(&folder, "out").len() } else { 0 };
            let until = there() + 9;
            let ended = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if there() >= until {
                    break None;
                }
                assert!(began.elapsed() < Duration::from_secs(120));
                std::thread::sleep(Duration::from_millis(1));
            };
            if let Some(status) = ended {
                assert!(status.success(), "after {kills} kills");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        assert!(kills >= 2, "{kills} kills");
        assert!(frames(&folder, "out") == whole, "{more}: other frames after {kills} kills");
    }
}

#[test]
fn complete_frames_stay_and_a_damaged_one_is_rendered_again() {
    let folder = Folder::new();
    folder.good(&format!("{SHALLOW} -o frames"));
    let whole = frames(&folder, "frames");
    let modified = |frame: usize| {
        std::fs::metadata(folder.join(&format!("frames/{}", whole[frame].0))).unwrap().modified().unwrap()
    };
    let before = [modified(0), modified(2)];
    std::fs::remove_file(folder.join(&format!("frames/{}", whole[1].0))).unwrap();
    let cut = &whole[3].1[..whole[3].1.len() - 20];
    let folder = folder.with(&format!("frames/{}", whole[3].0), cut);
    folder.good(&format!("{SHALLOW} -o frames"));
    assert!(frames(&folder, "frames") == whole);
    let modified = |frame: usize| {
        std::fs::metadata(folder.join(&format!("frames/{}", whole[frame].0))).unwrap().modified().unwrap()
    };
    assert_eq!([modified(0), modified(2)], before);
}

#[test]
fn other_zooms_and_other_files_are_left_alone() {
    let folder = Folder::new();
    folder.good(&format!("{SHALLOW} -o frames"));
    let whole = frames(&folder, "frames");
    let ran = folder.run(format!("{SHALLOW} -o frames --palette ember").split_whitespace());
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("holds frames of another zoom: its palette is") && ran.err.contains("--fresh"),
        "{}",
        ran.err
    );
    let more = SHALLOW.replace("--frames 5", "--frames 6");
    let ran = folder.run(format!("{more} -o frames").split_whitespace());
    assert!(ran.code == 2 && ran.err.contains("its frames is 5, not 6"), "{}", ran.err);
    assert!(frames(&folder, "frames") == whole);
    // With --fresh they are replaced.
    folder.good(&format!("{more} -o frames --fresh"));
    assert_eq!(frames(&folder, "frames").len(), 6);
    // A file that is no frame, and frames without a record.
    let name = format!("frames/{}", whole[2].0);
    let folder = folder.with(&name, b"mine");
    for more in [more.clone(), format!("{more} --fresh")] {
        let ran = folder.run(format!("{more} -o frames").split_whitespace());
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.err.contains("it is in the way"), "{}", ran.err);
        assert_eq!(folder.read(&name), b"mine");
    }
    std::fs::remove_file(folder.join("frames/zoom.json")).unwrap();
    let ran = folder.run(format!("{more} -o frames").split_whitespace());
    assert!(ran.code == 4 && ran.err.contains("it is in the way"), "{}", ran.err);
    let folder = folder.with("frames/zoom.json", b"{}");
    let ran = folder.run(format!("{more} -o frames").split_whitespace());
    assert!(ran.code == 4 && ran.err.contains("no record of a zoom"), "{}", ran.err);
}

/// Runs a zoom with a program of this text as ffmpeg.
#[cfg(unix)]
fn with_ffmpeg(folder: &Folder, script: Option<&str>, line: &str) -> Ran {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("bin");
    std::fs::create_dir_all(&path).unwrap();
    if let Some(script) = script {
        let program = path.join("ffmpeg");
        #[expect(clippy::disallowed_methods, reason = "a program of a test")]
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = folder.command();
    command.args(line.split_whitespace()).env("PATH", &path);
    Ran::from(command.output().unwrap())
}

/// Writes its input to the file that its last argument names, and its arguments beside the frames.
#[cfg(unix)]
const RECORDER: &str = "#!/bin/sh
[ \"$1\" = -version ] && exit 0
echo \"$@\" > arguments
for last; do :; done
/bin/cat > \"$last\"
";

#[test]
#[cfg(unix)]
fn a_film_is_encoded_from_its_frames() {
    let folder = Folder::new();
    folder.good(&format!("{SHALLOW} -o frames"));
    let all: Vec<u8> = frames(&folder, "frames").into_iter().flat_map(|(_, bytes)| bytes).collect();
    let ran = with_ffmpeg(&folder, Some(RECORDER), &format!("{SHALLOW} -o film.mp4 --fps 24"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(folder.read("film.mp4") == all);
    let arguments = String::from_utf8(folder.read("arguments")).unwrap();
    assert!(arguments.contains("-framerate 24 ") && arguments.contains("libx264"), "{arguments}");
    assert!(!folder.join("film.mp4.frames").exists(), "the frames are removed");
    let ran = with_ffmpeg(&folder, Some(RECORDER), &format!("{SHALLOW} -o film.webm --keep-frames"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(folder.read("film.webm") == all && frames(&folder, "film.webm.frames").len() == 5);
    assert!(String::from_utf8(folder.read("arguments")).unwrap().contains("libvpx-vp9"));
}

#[test]
#[cfg(unix)]
fn a_missing_ffmpeg_is_an_error_before_any_work_and_a_failing_one_keeps_the_frames() {
    let folder = Folder::new();
    let line = format!("{SHALLOW} -o film.mp4");
    let ran = with_ffmpeg(&folder, None, &line);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("is encoded by ffmpeg, which is not installed") && ran.err.contains("-o FOLDER"),
        "{}",
        ran.err
    );
    assert_eq!(folder.names(), ["bin"]);
    // It reads all, or nothing at all.
    for reads in ["/bin/cat > /dev/null", ":"] {
        let script = format!("#!/bin/sh\n[ \"$1\" = -version ] && exit 0\n{reads}\necho no such codec >&2\nexit 3\n");
        let ran = with_ffmpeg(&folder, Some(&script), &line);
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.err.contains("ffmpeg failed: no such codec"), "{}", ran.err);
        assert_eq!(frames(&folder, "film.mp4.frames").len(), 5);
        assert!(!folder.join("film.mp4").exists());
    }
    let ran = with_ffmpeg(&folder, Some(RECORDER), &line);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
#[cfg(unix)]
fn an_interrupted_zoom_says_how_to_go_on() {
    let folder = Folder::new();
    let line = "zoom kf-1e50 --from 1e40 --to 1e41 --frames 400 --size 200x100 -o frames";
    let mut command = folder.command();
    let mut child = command.args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !folder.join("frames").exists() || frames(&folder, "frames").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(5));
    }
    common::interrupt(&child);
    let asked = Instant::now();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(asked.elapsed() < Duration::from_secs(5));
    assert!(said.contains("of 400 frames; the same command goes on"), "{said}");
    let left = std::fs::read_dir(folder.join("frames")).unwrap().map(|entry| entry.unwrap().path());
    assert!(left.into_iter().all(|path| is_known(&path)), "no partial file is left");
}

#[cfg(unix)]
fn is_known(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    name == "zoom.json" || (name.starts_with("frame-") && name.ends_with(".png"))
}

#[test]
fn resampled_frames_are_near_direct_ones() {
    let line = "zoom --center -0.743643887037,0.131825904205 --from 1 --to 1e4 --frames 9 --size 160x90";
    let folder = Folder::new();
    folder.good(&format!("{line} -o direct"));
    folder.good(&format!("{line} -o resampled --method exponential"));
    let (direct, resampled) = (frames(&folder, "direct"), frames(&folder, "resampled"));
    let mut means = Vec::new();
    for ((name, a), (_, b)) in direct.iter().zip(&resampled) {
        let (a, b) = (pixels(a), pixels(b));
        let sum: u64 = a.iter().zip(&b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        means.push(sum as f64 / a.len() as f64);
        // A frame by chance would differ by 60 and more.
        assert!(means.last().unwrap() < &MOST_MEAN_DIFFERENCE, "{name}: {means:?}");
    }
    // The smallest frame is rendered, not resampled.
    assert!(pixels(&direct[8].1) == pixels(&resampled[8].1));
    let text = folder.good("show resampled/frame-0003.png").text();
    assert!(text.contains("resampled from an exponential map"), "{text}");
    // Its scene is the frame rendered directly.
    folder.good("render resampled/frame-0003.png -o again.png");
    assert!(folder.read("again.png") == direct[2].1);
}

/// The mean difference of a channel, of 255, between a resampled and a direct frame of 160 x 90 pixels. The frames of the test have 1.3 to
/// 17.2, the most where neighbouring pixels differ most.
const MOST_MEAN_DIFFERENCE: f64 = 20.0;

#[test]
fn a_dry_run_says_what_a_zoom_takes_and_writes_nothing() {
    let folder = Folder::new();
    for (more, expected) in [("", "limit"), ("--method exponential", "exponential: as many samples as")] {
        let text = folder.good(&format!("{SHALLOW} -o film.mp4 --dry-run {more}")).text();
        for expected in [
            expected,
            "1 to 1e4, linear: 13.3 doublings in 5 frames",
            "frames of about",
            "time       about",
            "film.mp4: 0.2 s",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert_eq!(folder.names(), [""; 0]);
    }
}
