/** Members of a service with standbys as real processes, which are killed and stopped. */
package io.saucr.services.tests.standby;
