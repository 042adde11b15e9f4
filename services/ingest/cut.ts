import { eventBounds } from '#proto/inbound-event.ts'
import { cut } from '#shared/text/cut.ts'

/** Cuts what is too long and remembers whether it did. */
export interface Cutter {
  cut(text: string, most: number): string
  cutLabels(labels: Readonly<Record<string, string>>): Record<string, string>
  hasCut(): boolean
}

export const cutter = (): Cutter => {
  let hasCut = false
  const bounded = (given: string, most: number): string => {
    // Databases keep no zeros, and whoever is told next may refuse a text with half a character in it.
    const text = given.replaceAll('\0', ' ').toWellFormed()
    if (text.length <= most) return text
    hasCut = true
    return cut(text, most)
  }
  return {
    cut: bounded,
    cutLabels: (labels) => {
      const entries = Object.entries(labels)
      if (entries.length > eventBounds.labels) hasCut = true
      return Object.fromEntries(
        entries
          .slice(0, eventBounds.labels)
          .map(([name, value]) => [bounded(name, eventBounds.labelName), bounded(value, eventBounds.labelValue)]),
      )
    },
    hasCut: () => hasCut,
  }
}
