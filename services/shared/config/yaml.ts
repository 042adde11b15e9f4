import { loadAll, YAMLException } from 'js-yaml'

/** Maximum aliases of a document. Nested aliases multiply the number of values that are visited. */
const maxAliases = 20

/** Thrown for invalid YAML. The message may quote the document, which may contain secrets. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
  /** Line number from 1; undefined if the error concerns the whole text. */
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

/** Parses YAML 1.2 with the core schema; null for an empty document. Throws `YamlError`. */
export const parseYaml = (text: string): unknown => {
  const documents = loadDocuments(text)
  if (documents.length > 1) throw new YamlError('more than one YAML document; use one per file')
  return documents[0] ?? null
}

const loadDocuments = (text: string): unknown[] => {
  try {
    return loadAll(text, { maxAliases: maxAliases })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw new YamlError(String(error))
    throw new YamlError(error.reason, error.mark && error.mark.line + 1)
  }
}
