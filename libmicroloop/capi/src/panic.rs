//! A panic that was caught at the boundary. The core cannot panic by lint; this is for what the lint cannot see.

use std::{any::Any, format};

use crate::status::{Fault, MICROLOOP_PANIC};

pub(crate) fn fault(panic: &(dyn Any + Send)) -> Fault {
    // A constant text is safe to pass on. One that was put together may quote the arguments of a call.
    let what = panic.downcast_ref::<&'static str>().copied().unwrap_or("its text is left out");
    let message =
        format!("a fault inside libmicroloop ({what}): this call was not judged; please report how to get here");
    Fault::new(MICROLOOP_PANIC, message)
}
