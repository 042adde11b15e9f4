import type { Unit } from './catalogue.ts'

/** Units whose values 0, 1 and 2 are shown as words. The web UI reads this file too, so it must not load schemas. */
export const unitValueMappings: Readonly<Partial<Record<Unit, readonly string[]>>> = {
  'yes-no': ['no', 'yes'],
  level: ['well', 'strained', 'failing'],
}
