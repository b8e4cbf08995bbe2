package io.saucr.server.admin;

import io.saucr.server.config.SaucrSettings;
import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import io.saucr.server.requests.SlowRequests;
import java.time.Duration;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AdminServer's command that changes {@code saucr.slowRequestTime} until the process ends: POST
 * to {@code /commands/saucr/slowRequestTime}, with the time, or {@code off}, and the reason as the
 * body.
 */
final class SlowRequestTimeCommand extends AdminOrder {
    private static final Logger LOG = LoggerFactory.getLogger(SlowRequestTimeCommand.class);

    private final SlowRequests requests;

    SlowRequestTimeCommand(SlowRequests requests) {
        super(
                "saucr/slowRequestTime",
                SaucrSettings.SLOW_REQUEST_TIMES + ", and the reason as the body");
        this.requests = requests;
    }

    @Override
    CommandResponse obey(ZooKeeperServer server, String body) {
        WhatAndWhy order = WhatAndWhy.of(body);
        Duration time;
        try {
            time = SaucrSettings.slowRequestTime(order.what());
        } catch (InvalidSettingException e) {
            return refused(e.getMessage(), HttpServletResponse.SC_BAD_REQUEST);
        }
        Duration before = requests.threshold();
        requests.threshold(time);
        LOG.info(
                "A request is slow from {} ms on, before {} ms (0: none is): operator: {}",
                time.toMillis(),
                before.toMillis(),
                order.why());
        CommandResponse response = initializeResponse();
        response.put("thresholdMillis", time.toMillis());
        response.put("millisBefore", before.toMillis());
        return response;
    }
}
