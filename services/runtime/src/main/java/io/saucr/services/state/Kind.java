package io.saucr.services.state;

/** What a collection is declared as; part of its bytes. */
enum Kind {
    MAP(1),
    LIST(2),
    VALUE(3);

    private final int code;

    Kind(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static Kind of(int code, String collection) throws UnreadableStateException {
        for (Kind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new UnreadableStateException(
                "collection "
                        + collection
                        + " is of the unknown kind "
                        + code
                        + ": a newer release wrote it, or its bytes are damaged");
    }
}
