//! Kernels with the types of their parameters.
//!
//! The driver takes a launch's arguments as untyped pointers. A [`Kernel`] carries the signature that its code was
//! compiled with, and [`Kernel::launch`] takes nothing else. The one unsafe step is to say that a function of a module
//! has a signature: [`Modules::kernel`](crate::modules::Modules::kernel), once for each kernel, with the reason.
//! Addresses in arguments borrow the buffers that they are of, and freeing a buffer waits for the launches that use it.

#![expect(unsafe_code, reason = "kernels have no types of their own; each block says why it is sound")]

use crate::deep::formula_layout::{DeepFormula, DeepTinyParts};
use crate::deep::layout::{DeepLists, DeepOrigin, DeepPixels, DeepTiny, DeepView, WideBlock};
use crate::driver::{Address, ConstAddress, Fault, Function, Occupancy, Stream};
use crate::launch::LaunchDivision;
use crate::lists::{Corners, RectangleList, Survivors};
use crate::paint_tables::PaintTask;
use crate::peak::PeakRule;
use crate::proof::{BlockProof, ProofLists};
use crate::task::Task;
use std::ffi::c_void;
use std::marker::PhantomData;

/// A value that kernels take as it is.
///
/// # Safety
/// The type has the size and layout of the kernel's parameter, and any copy of it may be read.
pub(crate) unsafe trait Parameter: Copy {}

// SAFETY: `unsigned`.
unsafe impl Parameter for u32 {}
// SAFETY: `double`.
unsafe impl Parameter for f64 {}
// SAFETY: a pointer of 64 bits (`driver.rs`).
unsafe impl<T> Parameter for Address<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Parameter for ConstAddress<'_, T> {}

macro_rules! shared_parameters {
    ($($type:ty),+) => {
        $(
            // SAFETY: `static_assert`s of kernels/generated.cuh hold its layout in C++ against this one.
            unsafe impl Parameter for $type {}
        )+
    };
}
shared_parameters!(BlockProof, ProofLists<'_>, Corners, RectangleList<'_>, LaunchDivision<'_>, PaintTask<'_>, PeakRule);
shared_parameters!(DeepView<'_>, DeepFormula<'_>, DeepPixels<'_>, DeepLists<'_>);
// SAFETY: as above, for f32 and f64, the only numbers.
unsafe impl<N: dwell_kernels::Kernels> Parameter for Task<'_, N> {}
// SAFETY: as above.
unsafe impl<N: dwell_kernels::Kernels> Parameter for Survivors<'_, N> {}

// SAFETY: four integers of 32 bits without gaps, `repr(C)`: any bytes are a value.
unsafe impl bytemuck::Zeroable for Corners {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Corners {}

macro_rules! plain_values {
    ($($type:ty),+) => {
        $(
            // SAFETY: numbers without gaps, which the sizes asserted beside the definition show, `repr(C)`: any bytes are a value.
            unsafe impl bytemuck::Zeroable for $type {}
            // SAFETY: as above.
            unsafe impl bytemuck::Pod for $type {}
        )+
    };
}
plain_values!(DeepTiny, DeepTinyParts, DeepOrigin, WideBlock);

/// A launch's arguments, in the order of the kernel's parameters.
pub(crate) trait Arguments {
    /// Calls a function with a pointer to each.
    fn with_pointers<R>(&mut self, call: impl FnOnce(&mut [*mut c_void]) -> R) -> R;
}

macro_rules! arguments {
    ($($name:ident)+) => {
        impl<$($name: Parameter),+> Arguments for ($($name,)+) {
            fn with_pointers<R>(&mut self, call: impl FnOnce(&mut [*mut c_void]) -> R) -> R {
                #[expect(non_snake_case, reason = "a value for each type, of the same name")]
                let ($($name,)+) = self;
                call(&mut [$((&raw mut *$name).cast()),+])
            }
        }
    };
}
arguments!(A);
arguments!(A B);
arguments!(A B C);
arguments!(A B C D);
arguments!(A B C D E);
arguments!(A B C D E F G);

/// The parameters of a kernel.
pub(crate) trait Signature {
    /// Their types, in order.
    type Arguments<'a>: Arguments;
}

macro_rules! signatures {
    ($($(#[doc = $about:literal])+ $name:ident $(<$number:ident>)? ($($type:ty),+);)+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $name $(<$number>(PhantomData<$number>))?;

            impl $(<$number: dwell_kernels::Kernels>)? Signature for $name $(<$number>)? {
                type Arguments<'a> = ($($type,)+);
            }
        )+
    };
}

signatures! {
    /// Kernels that take rows of a task and nothing else.
    Rows<N>(Task<'a, N>);
    /// `tuned_first`: survivors, and steps after the prologue.
    TunedFirst<N>(Task<'a, N>, Survivors<'a, N>, u32);
    /// `tuned_stage`: survivors before and after, steps left to the limit, and steps of the stage.
    TunedStage<N>(Task<'a, N>, Survivors<'a, N>, Survivors<'a, N>, u32, u32);
    /// `proven_blocks`, `proven_parts`: the proofs, and the lists.
    Proven<N>(Task<'a, N>, BlockProof, ProofLists<'a>);
    /// `proven_rest`: the proofs, the lists, survivors, and steps after the prologue.
    ProvenRest<N>(Task<'a, N>, BlockProof, ProofLists<'a>, Survivors<'a, N>, u32);
    /// `proven_late`: the lists, survivors, and steps after the prologue.
    ProvenLate<N>(Task<'a, N>, ProofLists<'a>, Survivors<'a, N>, u32);
    /// `levels_grid`: the list, width, first and last row, and parts of each side.
    LevelsGrid(RectangleList<'a>, u32, u32, u32, u32);
    /// `levels_border`: rectangles, children, leaves, parts of each side, least side that is divided, whether to
    /// divide.
    LevelsBorder<N>(Task<'a, N>, RectangleList<'a>, RectangleList<'a>, RectangleList<'a>, u32, u32, u32);
    /// `levels_leaf`: leaves.
    LevelsLeaf<N>(Task<'a, N>, RectangleList<'a>);
    /// `cdp_divide`: the division, all pixels, parts of each side, and depth.
    CdpDivide<N>(Task<'a, N>, LaunchDivision<'a>, Corners, u32, u32);
    /// `smooth`: smooth values, counted from the field's first row, and 1 / log2 of the power.
    SmoothValues<N>(Task<'a, N>, Address<'a, f64>, f64);
    /// `paint_bytes`, `paint_words`, `paint_averages`.
    Paint(PaintTask<'a>);
    /// `deep_f64`, `deep_pairs`, and `_derived` of both: the view, pixels, and lists.
    DeepDecide(DeepView<'a>, DeepPixels<'a>, DeepLists<'a>);
    /// `deep_formula_f64`, `deep_formula_pairs`, and `_derived` of both: the view, pixels, and lists.
    DeepDecideFormula(DeepFormula<'a>, DeepPixels<'a>, DeepLists<'a>);
    /// `peak`: the rule, steps, a sum for each thread, and cycles of each block.
    Peak<N>(PeakRule, u32, Address<'a, N>, Address<'a, u64>);
}

/// A kernel with the signature `S`.
#[derive(Debug)]
pub(crate) struct Kernel<S> {
    function: Function,
    signature: PhantomData<fn(S)>,
}

impl<S> Clone for Kernel<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Kernel<S> {}

impl<S: Signature> Kernel<S> {
    /// A function of a module.
    ///
    /// # Safety
    /// Its parameters are those of the signature, in their order, and it writes only through the addresses among them,
    /// within what the structs that hold them say.
    pub(crate) unsafe fn new(function: Function) -> Self {
        Self { function, signature: PhantomData }
    }

    /// Launches it. The driver copies the arguments.
    pub(crate) fn launch(
        self,
        stream: &Stream,
        grid: [u32; 2],
        block: [u32; 2],
        arguments: S::Arguments<'_>,
    ) -> Result<(), Fault> {
        // SAFETY: the arguments have the types of the kernel's parameters by the promise of `new`; the addresses among
        // them borrow their buffers, which wait for the device before they free memory.
        unsafe { stream.launch(self.function, grid, block, arguments) }
    }

    /// The block size that keeps a multiprocessor busiest.
    pub(crate) fn best_block(self) -> Result<u32, Fault> {
        self.function.best_block()
    }

    /// The blocks of so many threads that fit on a multiprocessor.
    pub(crate) fn occupancy(self, threads: u32, device: &crate::driver::Device) -> Result<Occupancy, Fault> {
        self.function.occupancy(threads, device)
    }
}
