import { globSync } from 'node:fs'

/** Returns the path of libfaketime, which fakes the clock of a program; undefined if it is not installed. */
export const findFaketimeLibrary = (): string | undefined => globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]
