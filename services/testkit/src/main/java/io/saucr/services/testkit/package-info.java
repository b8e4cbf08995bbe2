/**
 * For the tests of those who write services: services in memory, on the thread of the test, with a
 * clock of their own, messages that are lost, and crashes between any two steps.
 */
package io.saucr.services.testkit;
