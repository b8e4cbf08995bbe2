package io.saucr.services.examples.product;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Multiplies two matrices, row by row: a crash loses all. One thread. */
public final class PlainProduct {

    private final int size;
    private final Matrix left;
    private final Matrix right;
    private final Map<Integer, List<Double>> rows = new HashMap<>();

    /**
     * Of two matrices.
     *
     * @param size of both
     * @param seed of the first one; the second one's is one more
     */
    public PlainProduct(int size, long seed) {
        this.size = size;
        left = new Matrix(size, seed);
        right = new Matrix(size, seed + 1);
    }

    /** Multiplies, and adds up all numbers of the product. */
    public double multiply() {
        for (int row = 0; row < size; row++) {
            rows.put(row, left.rowOfProduct(row, right));
        }
        return sum();
    }

    private double sum() {
        double sum = 0;
        for (int row = 0; row < rows.size(); row++) {
            for (double number : rows.get(row)) {
                sum += number;
            }
        }
        return sum;
    }
}
