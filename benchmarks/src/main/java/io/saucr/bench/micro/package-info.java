/** JMH benchmarks of what the servers' core does for every proposal. */
package io.saucr.bench.micro;
