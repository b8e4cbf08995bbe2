/**
 * Decides for handlers that run in parallel under recorded locks: what is recorded of them, where
 * the trace is cut, and what a member that replays the trace may do next. No I/O, threads or clock.
 */
package io.saucr.services.core.replay;
