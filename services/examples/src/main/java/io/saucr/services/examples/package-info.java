/** What the examples share. */
package io.saucr.services.examples;
