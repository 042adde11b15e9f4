import { CommandError, createUsageError } from './exit-codes.ts'
import { parseMinutes } from './output/format.ts'

/** Returns the value of an option that takes a whole number from 1 to `max`. */
export const readWholeNumber = (option: string, text: string, max: number): number => {
  const value = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN
  if (value <= max) return value
  throw createUsageError(`invalid ${option} "${text}"; allowed: a whole number from 1 to ${max}`)
}

/** Returns the minutes of a time range such as `6h`; undefined if the option is absent. */
export const readLastMinutes = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const minutes = parseMinutes(text)
  if (minutes !== undefined) return minutes
  throw createUsageError(`invalid --last "${text}"; allowed: a number with m, h or d, such as 30m, 6h or 7d`)
}

const servicesNodeVersion = 22

/** Throws unless this is the Node that the code of the services needs. Other commands run on older versions. */
export const requireServicesNode = (command: string, version = process.versions.node): void => {
  if (Number.parseInt(version, 10) < servicesNodeVersion)
    throw new CommandError(`${command} requires Node ${servicesNodeVersion} or newer; this is Node ${version}`)
}

/** Returns the part of the help with examples, one per line. */
export const formatExamples = (...examples: readonly string[]): string =>
  ['', 'Examples:', ...examples.map((example) => `  ${example}`)].join('\n')
