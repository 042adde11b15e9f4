import { globSync } from 'node:fs'

/** The library that sets the clock which a program sees; undefined where the package `faketime` is missing. */
export const faketimeLibrary = (): string | undefined => globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]
