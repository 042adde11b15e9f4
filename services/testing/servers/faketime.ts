import { globSync } from 'node:fs'

/** Returns the library that fakes the clock of a program, or undefined without the package `faketime`. */
export const faketimeLibrary = (): string | undefined => globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]
