package io.saucr.services.core.speculation;

/** A rule that the model of a group breaks, so that a test shows that this is noticed. */
enum Broken {
    NOTHING,
    D2_NO_DEPENDENCY,
    D2_EMPTY_VERTEX,
    D3_NO_COMMIT_ORDER,
    D4_LOWER_WORLD_TAKEN,
    /** Messages of a higher world are taken; that is safe (see the test), and undone again. */
    D4_HIGHER_WORLD_TAKEN,
    D4_NO_RESEND,
    D5_REPORTED_BEFORE_SYNC,
    D7_LEAVES_ONCE_SYNCED,
    D8_ANNOUNCED_WHILE_DECIDING,
    D8_TOLD_BEFORE_WRITTEN,
    D9_DECIDED_UNLISTED,
    D9_OLD_EPOCH_OBEYED,
    D10_REPORTED_BEFORE_PASSED,
    D10_PASSED_NOT_READ,
    D11_KEPT_ALL,
    D11_KEPT_NONE,
    D11_BOUNDARY_FOR_CUT,
    D11_COMPARED_AFTER_A_MISS,
    D11_LEFT_FOR_CUT,
    /** The numbers of K14 are those of all turns, not of final ones. */
    D12_SPECULATIVE_COMPARED,
    /** An answer acknowledges before it is final. */
    D12_ANSWER_IS_AN_ACK,
    D13_START_TRUSTED,
    D13_NOTE_STAYS,
    /** The result of a call is taken by a turn that has its number. */
    D17_NUMBER_ALONE,
    /** A call whose result was undone is not made again. */
    D17_RESULT_LOST,
    /** The version that frees a message does not depend on the one that consumed it. */
    D18_NO_DEPENDENCY,
    /** What a member heard that left is not noted. */
    D19_LEFT_NOT_NOTED,
    /** A start counts as if it remembered what it heard before. */
    D19_START_REMEMBERS,
    /** What depends on a member that was given up stays, though all others run. */
    D19_LOSS_KEPT
}
