//! Time: set by the host, advanced by one virtual microsecond with every read, never backwards.

use core::cell::Cell;

use crate::local::Local;

static NOW_US: Local<Cell<u64>> = Local::new(Cell::new(0));
static START_US: Local<Cell<u64>> = Local::new(Cell::new(0));

/// Moves the clock to `us` unless it is there already or beyond.
pub fn advance_to(us: u64) {
    if us > NOW_US.get() {
        NOW_US.set(us);
    }
}

/// Moves the clock to the host's time and makes it the origin of `performance.now`.
pub fn start(us: u64) {
    NOW_US.set(us);
    START_US.set(us);
}

/// The time in microseconds since the epoch; every read takes one.
pub fn read_us() -> u64 {
    let now = NOW_US.get();
    NOW_US.set(now.saturating_add(1));
    now
}

/// The time without taking a microsecond.
pub fn peek_us() -> u64 {
    NOW_US.get()
}

/// Milliseconds since the cell started.
pub fn elapsed_ms() -> f64 {
    read_us().saturating_sub(START_US.get()) as f64 / 1000.0
}

/// The clock that the engine asks for.
#[unsafe(no_mangle)]
pub extern "C" fn __rquickjs_host_now_us() -> f64 {
    read_us() as f64
}

/// Milliseconds since the epoch as ISO text, `None` outside the range of dates.
pub fn iso_text(ms: f64) -> Option<String> {
    if ms.is_nan() || ms.abs() > 8.64e15 {
        return None;
    }
    let ms = ms as i64;
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (seconds, milli) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        10_000.. => format!("+{year:06}"),
        _ => format!("-{:06}", -year),
    };
    Some(format!(
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"
    ))
}

/// Days since the epoch to a date of the proleptic Gregorian calendar, by eras of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
