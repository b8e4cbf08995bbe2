/** Members whose handlers run in lanes, as processes. */
package io.saucr.services.tests.replay;
