//! A progress bar with an estimate of the remaining time, on terminals only.

use dwell::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time before the bar appears: shorter work shows none.
const SILENT_FOR: Duration = Duration::from_secs(1);
/// Time between updates of the bar.
const TICK: Duration = Duration::from_millis(100);
/// Positions of the bar from empty to full.
const STEPS: u64 = 10_000;

/// Whether to show progress: not with --quiet, and only where standard error is a terminal that can redraw a line.
pub(crate) fn wanted(quiet: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    !quiet && !dumb && std::io::stderr().is_terminal()
}

/// The part of a bar that some work fills: all of it, or the share that a job has in a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The beginning of the whole.
    began: Instant,
    /// The fraction of the whole that was done before, and the fraction that this work is.
    before: f64,
    share: f64,
}

impl Default for Span {
    fn default() -> Self {
        Self { began: Instant::now(), before: 0.0, share: 1.0 }
    }
}

impl Span {
    /// The part of `share` of a whole that began at `began`, of which `before` is done.
    pub(crate) fn of(began: Instant, before: f64, share: f64) -> Self {
        Self { began, before, share }
    }

    /// The fraction of the whole that is done.
    fn fraction(self, progress: &Progress) -> f64 {
        (self.before + self.share * progress.fraction()).clamp(0.0, 1.0)
    }

    /// [`during`], for this part of a bar.
    pub(crate) fn during<R>(self, wanted: bool, what: &str, progress: &Progress, work: impl FnOnce() -> R) -> R {
        during_span(wanted, what, self, progress, work)
    }
}

/// Runs `work` and, if `wanted`, draws `progress` on another thread meanwhile. `what` names the work on the bar.
pub(crate) fn during<R>(wanted: bool, what: &str, progress: &Progress, work: impl FnOnce() -> R) -> R {
    Span::default().during(wanted, what, progress, work)
}

fn during_span<R>(wanted: bool, what: &str, span: Span, progress: &Progress, work: impl FnOnce() -> R) -> R {
    if !wanted {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let Ok(drawer) = std::thread::Builder::new().spawn_scoped(scope, || draw(what, span, progress, &done)) else {
            return work();
        };
        // Dropped even if the work panics: the drawing thread then ends, and the scope, which joins it, passes the panic on.
        struct Finish<'a>(&'a AtomicBool, std::thread::Thread);
        impl Drop for Finish<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
                self.1.unpark();
            }
        }
        let _finish = Finish(&done, drawer.thread().clone());
        work()
    })
}

fn draw(what: &str, span: Span, progress: &Progress, done: &AtomicBool) {
    let mut bar: Option<ProgressBar> = None;
    let mut estimate = (0.0, Duration::ZERO);
    // What the work before this took, unless it is a part of a batch, and what phases take, in which no pixels are finished: the estimate is of the pixels.
    let mut without_pixels = if span.share < 1.0 { Duration::ZERO } else { span.began.elapsed() };
    let mut last = Instant::now();
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(TICK);
        let phase = progress.phase();
        let since_last = std::mem::replace(&mut last, Instant::now()).elapsed();
        without_pixels += if phase.is_some() { since_last } else { Duration::ZERO };
        let elapsed = span.began.elapsed();
        if elapsed < SILENT_FOR || done.load(Ordering::Relaxed) {
            continue;
        }
        let elapsed = elapsed.saturating_sub(without_pixels);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{wide_bar}] {percent:>3} % {msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        if let Some((phase, done, all)) = phase {
            bar.set_prefix(phase.name());
            bar.set_position(all.map_or(0, |all| (u128::from(done) * u128::from(STEPS) / u128::from(all)) as u64));
            bar.set_message(if all.is_some() { String::new() } else { format!("{} steps", grouped(done)) });
            continue;
        }
        bar.set_prefix(what.to_owned());
        let fraction = span.fraction(progress);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to STEPS")]
        bar.set_position((fraction * STEPS as f64) as u64);
        // The estimate is renewed whenever the fraction grows, and counts down until then.
        if fraction > estimate.0 {
            estimate = (fraction, elapsed);
        }
        bar.set_message(remaining(estimate.1, estimate.0, elapsed));
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// The remaining time at `now`, if the rest of the work has the rate of the `fraction` that was done at `elapsed`.
fn remaining(elapsed: Duration, fraction: f64, now: Duration) -> String {
    if fraction < 0.001 {
        return "ETA ...".to_owned();
    }
    let since = now.saturating_sub(elapsed).as_secs_f64();
    let seconds = (elapsed.as_secs_f64() * (1.0 - fraction) / fraction - since).max(1.0);
    if fraction >= 1.0 {
        return "finishing".to_owned();
    }
    format!("ETA {}", duration(seconds))
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = std::iter::once(head).filter(|head| !head.is_empty());
    groups
        .chain(tail.as_bytes().chunks(3).filter_map(|group| std::str::from_utf8(group).ok()))
        .collect::<Vec<_>>()
        .join(",")
}

/// A time as text: seconds, rounded up, as `s`, `m:ss min` or `h:mm h`; whole days from 48 hours on.
pub(crate) fn duration(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
    let whole = seconds.ceil() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02} min", whole / 60, whole % 60),
        3600..172_800 => format!("{}:{:02} h", whole / 3600, whole / 60 % 60),
        _ => format!("{} days", whole / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_fills_its_share_of_the_bar() {
        let progress = Progress::default();
        progress.start(10, Vec::new());
        progress.add(5);
        let span = Span::of(Instant::now(), 0.5, 0.2);
        assert!((span.fraction(&progress) - 0.6).abs() < 1e-12);
        assert!((Span::default().fraction(&progress) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn the_remaining_time_is_formatted_and_counts_down() {
        let after = |s: f64, f: f64| remaining(Duration::from_secs_f64(s), f, Duration::from_secs_f64(s));
        assert_eq!(after(10.0, 0.5), "ETA 10 s");
        assert_eq!(after(10.0, 0.1), "ETA 1:30 min");
        assert_eq!(after(3600.0, 0.5), "ETA 1:00 h");
        assert_eq!(after(1e6, 0.01), "ETA 1145 days");
        assert_eq!(after(1.0, 0.0), "ETA ...");
        let later = |s: u64| remaining(Duration::from_secs(10), 0.5, Duration::from_secs(10 + s));
        assert_eq!((later(4), later(100)), ("ETA 6 s".to_owned(), "ETA 1 s".to_owned()));
    }
}
