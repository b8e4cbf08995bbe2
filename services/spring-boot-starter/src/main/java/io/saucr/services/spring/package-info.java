/**
 * Runs the services among the beans of a Spring Boot application. {@link
 * io.saucr.services.spring.SaucrServices} has what runs.
 */
package io.saucr.services.spring;
