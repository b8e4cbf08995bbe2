/**
 * Recovery of a server: what its disk is worth when it starts (R15, R25, R26), the procedure that
 * finds out what is missing and copies it (R15 to R19, R23, R26), the answers of other servers, and
 * their encoding (R18).
 */
package io.saucr.core.recovery;
