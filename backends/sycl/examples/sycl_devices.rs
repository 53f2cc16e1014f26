//! Lists the devices of both interfaces: `cargo run -p farro-sycl --example sycl_devices`.

use farro_sycl::{Route, devices, library};

fn main() {
    println!("SYCL: {:?}\nOpenCL: {:?}", library::sycl(), library::opencl());
    for route in [Route::Sycl, Route::OpenCl] {
        match devices(route) {
            Ok(list) => list.iter().for_each(|device| println!("{}\n  {device:?}", device.title())),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}
