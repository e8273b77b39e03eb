import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Locale;

/** Trains a linear regression by gradient descent: the compiled regression.hlo is one step of it. */
public final class Main {
  public static void main(String[] arguments) {
    // 8 points of y = 3 a - 2 b, and the weights of a and b, which every step updates in place.
    ByteBuffer x = Model.array(64), y = Model.array(32), w = Model.array(8), loss = Model.array(4);
    FloatBuffer points = x.asFloatBuffer(), values = y.asFloatBuffer();
    for (int i = 0; i < 8; ++i) {
      points.put(i % 3).put(i % 2);
      values.put(3 * (i % 3) - 2 * (i % 2));
    }
    ByteBuffer[] inputs = {x, y, w}, outputs = {w, loss};
    try (Model step = new Model(arguments[0], "regression")) {
      for (int i = 1; i <= 100; ++i) {
        step.run(inputs, outputs);
        if (i % 50 == 0) {
          System.out.printf(Locale.ROOT, "step %d: loss %.6f, w = %.4f %.4f%n", i,
              loss.getFloat(0), w.getFloat(0), w.getFloat(4));
        }
      }
      inputs[1] = Model.array(28);
      step.run(inputs, outputs);
    } catch (Model.Failure failure) {
      System.out.println("error: " + failure.getMessage());
    }
  }
}
