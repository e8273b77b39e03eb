//! Trains a linear regression by gradient descent: the compiled regression.hlo is one step of it.
mod hlo;
use hlo::{input, output, state, Model};

#[link(name = "regression")]
extern "C" {
    fn regression_describe() -> *const hlo::Module;
}

fn main() -> Result<(), hlo::Error> {
    // 8 points of y = 3 a - 2 b, and the weights of a and b, which every step updates in place.
    let x: Vec<f32> = (0..8).flat_map(|i| [(i % 3) as f32, (i % 2) as f32]).collect();
    let y: Vec<f32> = x.chunks(2).map(|p| 3.0 * p[0] - 2.0 * p[1]).collect();
    let (mut w, mut loss) = ([0f32; 2], [0f32; 1]);

    let mut step = unsafe { Model::new(regression_describe, 2)? };
    for i in 1..=100 {
        step.run(&mut [input(&x), input(&y), state(&mut w), output(&mut loss)])?;
        if i % 50 == 0 {
            println!("step {}: loss {:.6}, w = {:.4} {:.4}", i, loss[0], w[0], w[1]);
        }
    }
    match step.run(&mut [input(&x), input(&y[1..]), state(&mut w), output(&mut loss)]) {
        Err(error) => println!("error: {}", error),
        Ok(()) => println!("no error"),
    }
    Ok(())
}
