import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;

/**
 * A compiled module over libhlo_rt.so, called with direct buffers, without copies.
 *
 * <p>The native code is hlo_jni.c; it knows no particular module, and loads the library of one. A
 * call is made by one thread at a time; several models may run at once.
 */
public final class Model implements AutoCloseable {
  static {
    System.loadLibrary("hlo_jni");
  }

  /** A failed call: its status (HLO_ERR_* of hlo/rt.h), and a text that begins with its name. */
  public static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;
    public final int status;

    Failure(int status, String message) {
      super(message);
      this.status = status;
    }
  }

  private long handle;

  /** Loads a shared library with the object of the module `name`. */
  public Model(String library, String name) {
    handle = open(library, name);
  }

  /** Memory for an array, in the order of bytes that the machine has. */
  public static ByteBuffer array(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /**
   * Runs the module on its inputs and outputs, in order; the whole of each buffer, whatever its
   * position. An output that the module may write over an input can be the same buffer.
   */
  public synchronized void run(ByteBuffer[] inputs, ByteBuffer[] outputs) {
    if (handle == 0) {
      throw new IllegalStateException("the model is closed");
    }
    ByteBuffer[] written = outputs.clone();
    for (ByteBuffer buffer : written) {
      if (buffer.isReadOnly()) {
        throw new ReadOnlyBufferException();
      }
    }
    run(handle, inputs, written);
  }

  @Override
  public synchronized void close() {
    if (handle != 0) {
      close(handle);
    }
    handle = 0;
  }

  private static native long open(String library, String name);

  private static native void run(long handle, ByteBuffer[] inputs, ByteBuffer[] outputs);

  private static native void close(long handle);
}
