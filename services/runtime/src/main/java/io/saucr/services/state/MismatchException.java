package io.saucr.services.state;

/** A value or its bytes do not fit the type; says at which component of which component. */
final class MismatchException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String where;
    private final String what;

    MismatchException(String what) {
        this("", what, null);
    }

    MismatchException(String what, Throwable cause) {
        this("", what, cause);
    }

    private MismatchException(String where, String what, Throwable cause) {
        super(where.isEmpty() ? what : where + ": " + what, cause);
        this.where = where;
        this.what = what;
    }

    /** The same, seen from one level above. */
    MismatchException within(String outer) {
        String inner = where.isEmpty() || where.startsWith("[") ? where : "." + where;
        return new MismatchException(outer + inner, what, getCause());
    }
}
