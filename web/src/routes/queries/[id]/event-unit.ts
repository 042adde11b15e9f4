import type { Unit } from '#proto/catalogue.ts'

const unitBySuffix: readonly [ending: RegExp, unit: Unit][] = [
  [/Microseconds$/, 'microseconds'],
  [/Milliseconds$/, 'milliseconds'],
  [/Seconds$/, 'seconds'],
  [/Bytes$/, 'bytes'],
  [/Rows$/, 'rows'],
]

/** Returns the unit of a profile event, according to the suffix of its name. */
export const findEventUnit = (name: string): Unit => unitBySuffix.find(([ending]) => ending.test(name))?.[1] ?? 'count'

/** Splits an event name into words. For example, `OSCPUVirtualTimeMicroseconds` becomes `OSCPU Virtual Time`. */
export const splitEventName = (name: string): string =>
  name.replace(/(Microseconds|Milliseconds|Seconds)$/, '').replaceAll(/([a-z\d])([A-Z])/g, '$1 $2') || name
