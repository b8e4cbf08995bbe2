/** Results for people: one HTML page. */
package io.saucr.crash.report;
