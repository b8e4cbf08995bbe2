package io.saucr.core.leader;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import java.util.List;

/**
 * Fast or slow. {@code prompt 4 onDisks at=10}: four prompt voters, the last slow entry on F disks,
 * time 10.
 */
public final class ModeControllerSubject implements ScenarioSubject {
    private ModeController controller;

    @Override
    public List<String> answer(ScenarioInput in) {
        return List.of(
                decide(in) + ", " + (controller.draining() ? "draining" : controller.mode()));
    }

    private String decide(ScenarioInput in) {
        switch (in.command()) {
            case "new":
                controller =
                        new ModeController(
                                (int) in.number("voters", 5),
                                (int) in.number("confirmations", 3),
                                in.number("drain", 10),
                                in.number("backoff", 0));
                return "new";
            case "voters":
                controller.voters((int) in.number());
                return "ok";
            case "prompt":
                {
                    int prompt = (int) in.number();
                    boolean onDisks = false;
                    boolean inFlight = false;
                    boolean nearly = true;
                    while (in.hasWord()) {
                        String word = in.word();
                        onDisks |= "onDisks".equals(word);
                        inFlight |= "inFlight".equals(word);
                        nearly &= !"farFromDisks".equals(word);
                    }
                    return controller
                            .promptness(prompt, onDisks, inFlight, nearly, in.number("at", 0))
                            .toString();
                }
            case "drain":
                return controller
                        .drain(in.hasWord() && "onDisks".equals(in.word()), in.number("at", 0))
                        .toString();
            case "tooFewPrompt":
                return controller.tooFewPrompt(in.number("at", 0)).toString();
            case "silence":
                return controller.silence(in.number("at", 0)).toString();
            case "overdue":
                return controller.overdue(in.number("at", 0)).toString();
            case "probe":
                return controller.probe(in.number("at", 0)).toString();
            case "reseal":
                return controller.reseal(in.number("at", 0)).toString();
            case "pin":
                return controller
                        .pin(ModeController.Pin.valueOf(in.word()), in.number("at", 0))
                        .toString();
            case "unpin":
                controller.unpin(ModeController.Pin.valueOf(in.word()));
                return "ok";
            default:
                throw in.unknown();
        }
    }
}
