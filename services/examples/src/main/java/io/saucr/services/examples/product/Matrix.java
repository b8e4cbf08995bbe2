package io.saucr.services.examples.product;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A square matrix that a seed gives. Immutable.
 *
 * <p>It is made again where it is needed, and no part of any state.
 */
public final class Matrix {

    private final double[][] rows;

    /**
     * Made of numbers from 0 to 1.
     *
     * @param size rows and columns, from 1
     */
    public Matrix(int size, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        rows = new double[size][size];
        for (double[] row : rows) {
            for (int column = 0; column < size; column++) {
                row[column] = random.nextDouble();
            }
        }
    }

    /** One row of this matrix multiplied by another. */
    public List<Double> rowOfProduct(int row, Matrix by) {
        double[] sums = new double[rows.length];
        for (int middle = 0; middle < rows.length; middle++) {
            double factor = rows[row][middle];
            for (int column = 0; column < rows.length; column++) {
                sums[column] += factor * by.rows[middle][column];
            }
        }
        List<Double> numbers = new ArrayList<>(sums.length);
        for (double sum : sums) {
            numbers.add(sum);
        }
        return numbers;
    }
}
