/**
 * What an operator sees and may do: admin commands, status page, JMX, and the answers of {@code
 * mntr}.
 */
package io.saucr.server.admin;
