import type { Labels, Selector } from './selector.ts'

/** What is known of the series of one name. */
interface Family {
  head: string
  samples: string[]
  /** The selectors that take the name; undefined where all is wanted. */
  selectors: readonly Selector[] | undefined
}

/** A text with all series of a name together, as the format demands, made of the texts of many hosts. */
export interface Families {
  /** A gauge of our own. */
  declare(name: string, help: string): (labels: Labels, value: number) => void
  /** Everything in a text without labels, as `query` gives it, under these labels. */
  add(text: string, labels: Labels): void
  /** By name, those without a sample left out. */
  text(): string
}

/** Without selectors every series is wanted. */
export const openFamilies = (selectors: readonly Selector[] | undefined): Families => {
  const families = new Map<string, Family>()

  const familyOf = (name: string, head: string): Family => {
    const known = families.get(name)
    if (known) return known
    const family = { head, samples: [], selectors: selectors?.filter((selector) => selector.takesName(name)) }
    families.set(name, family)
    return family
  }

  return {
    declare(name, help) {
      const family = familyOf(name, `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`)
      return (labels, value) => {
        if (isWanted(family, labels)) family.samples.push(`${name}${braced(labels)} ${value}\n`)
      }
    },
    add(text, labels) {
      const suffix = braced(labels)
      let head = ''
      for (const line of text.split('\n')) {
        if (line === '') continue
        if (line.startsWith('#')) {
          head += `${line}\n`
          continue
        }
        const space = line.indexOf(' ')
        const name = line.slice(0, space)
        const family = familyOf(name, head)
        if (isWanted(family, labels)) family.samples.push(`${name}${suffix}${line.slice(space)}\n`)
        head = ''
      }
    },
    text: () =>
      [...families]
        .filter(([, { samples }]) => samples.length > 0)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([, { head, samples }]) => head + samples.join(''))
        .join(''),
  }
}

const isWanted = ({ selectors }: Family, labels: Labels): boolean =>
  selectors === undefined || selectors.some((selector) => selector.takesLabels(labels))

const braced = (labels: Labels): string => {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return written.length === 0 ? '' : `{${written.join(',')}}`
}

const escapes: Readonly<Record<string, string>> = { '\\': String.raw`\\`, '"': String.raw`\"`, '\n': String.raw`\n` }

const escaped = (value: string): string => value.replaceAll(/[\\"\n]/g, (letter) => escapes[letter] ?? letter)
