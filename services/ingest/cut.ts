import { eventBounds } from '#proto/inbound-event.ts'

/** Cuts what is too long and remembers whether it did. */
export interface Cutter {
  cut(text: string, most: number): string
  cutLabels(labels: Readonly<Record<string, string>>): Record<string, string>
  hasCut(): boolean
}

export const cutter = (): Cutter => {
  let hasCut = false
  const cut = (given: string, most: number): string => {
    // Databases keep no zeros, and whoever is told next may refuse a text with half a character in it.
    const text = given.replaceAll('\0', ' ').toWellFormed()
    if (text.length <= most) return text
    hasCut = true
    // Half of a character outside the basic plane is none.
    return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
  }
  return {
    cut,
    cutLabels: (labels) => {
      const entries = Object.entries(labels)
      if (entries.length > eventBounds.labels) hasCut = true
      return Object.fromEntries(
        entries
          .slice(0, eventBounds.labels)
          .map(([name, value]) => [cut(name, eventBounds.labelName), cut(value, eventBounds.labelValue)]),
      )
    },
    hasCut: () => hasCut,
  }
}
