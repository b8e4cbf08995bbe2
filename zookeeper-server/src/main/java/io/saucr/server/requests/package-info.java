/**
 * What operators may know about single requests: which of them are slow and in which stage, and
 * which sessions, paths and operations cause the load.
 */
package io.saucr.server.requests;
