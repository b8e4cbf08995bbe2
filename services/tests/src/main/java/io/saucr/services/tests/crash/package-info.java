/**
 * Services and clients as real processes on machines of the crash framework, which lose their
 * processes, their power and their links: at points that are named, and at random.
 */
package io.saucr.services.tests.crash;
