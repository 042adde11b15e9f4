import type { Unit } from '#proto/catalogue.ts'

const endings: readonly [ending: RegExp, unit: Unit][] = [
  [/Microseconds$/, 'microseconds'],
  [/Milliseconds$/, 'milliseconds'],
  [/Seconds$/, 'seconds'],
  [/Bytes$/, 'bytes'],
  [/Rows$/, 'rows'],
]

/** The unit of a counter, which ClickHouse says with the end of its name. */
export const eventUnit = (name: string): Unit => endings.find(([ending]) => ending.test(name))?.[1] ?? 'count'

/** `OSCPUVirtualTimeMicroseconds` as `OSCPU Virtual Time`: where a line may break and what a reader looks for. */
export const eventWords = (name: string): string =>
  name.replace(/(Microseconds|Milliseconds|Seconds)$/, '').replaceAll(/([a-z\d])([A-Z])/g, '$1 $2') || name
