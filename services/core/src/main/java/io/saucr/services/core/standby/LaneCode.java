package io.saucr.services.core.standby;

import io.saucr.services.core.replay.TraceFormat;
import java.util.regex.Pattern;

/**
 * What replays a trace (X17). Members with the same one execute the same events. Immutable.
 *
 * @param lanes that handlers run in, from 1 to 64
 * @param code names the handlers' code: 1 to 64 letters, digits, dots, dashes and underscores
 */
public record LaneCode(int lanes, String code) {

    /** What a head may name, as a part of its pattern. */
    static final String CODE = "[0-9A-Za-z._-]{1,64}";

    private static final Pattern IS_CODE = Pattern.compile(CODE);

    public LaneCode {
        if (lanes < 1 || lanes > TraceFormat.MOST_LANES) {
            throw new IllegalArgumentException(
                    "there are 1 to " + TraceFormat.MOST_LANES + " lanes, not " + lanes);
        }
        if (!IS_CODE.matcher(code).matches()) {
            throw new IllegalArgumentException(
                    "a code has 1 to 64 letters, digits, dots, dashes and underscores, not \""
                            + code
                            + "\"");
        }
    }

    @Override
    public String toString() {
        return "code " + code + " in " + lanes + (lanes == 1 ? " lane" : " lanes");
    }
}
