import { loadAll, YAMLException } from 'js-yaml'

/** More aliases than honest files have; nested ones multiply, and readers of the value would visit all of them. */
const maxAliases = 20

/** A text that is no YAML. The message may quote it; the line never does. */
export class NoYaml extends Error {
  override readonly name = 'NoYaml'
  /** From 1; undefined when it is about the text as a whole. */
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

/** What a YAML text says, by the core schema of YAML 1.2; null when it says nothing. Throws `NoYaml`. */
export const parseYaml = (text: string): unknown => {
  const documents = load(text)
  if (documents.length > 1) throw new NoYaml('more than one document')
  return documents[0] ?? null
}

const load = (text: string): unknown[] => {
  try {
    return loadAll(text, { maxAliases: maxAliases })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw new NoYaml(String(error))
    throw new NoYaml(error.reason, error.mark && error.mark.line + 1)
  }
}
