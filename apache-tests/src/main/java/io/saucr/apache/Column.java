package io.saucr.apache;

/** What the tests run against. */
enum Column {
    /** Apache's released jar: the baseline on this machine. */
    STOCK("stock"),
    /** Our jar, SAUCR off. */
    OFF("SAUCR off"),
    /** Our jar, SAUCR on wherever the quorum of a test allows it. */
    ON("SAUCR on");

    private final String title;

    Column(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }
}
