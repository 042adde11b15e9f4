import { type KyselyPlugin, OperationNodeTransformer, type SchemableIdentifierNode } from 'kysely'

/** Puts the prefix before the named tables wherever a query mentions them; aliases must therefore have other names than tables. */
export const tablePrefix = (prefix: string, tables: readonly string[]): KyselyPlugin => {
  const transformer = new PrefixTransformer(prefix, new Set(tables))
  return {
    transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
    transformResult: async ({ result }) => result,
  }
}

class PrefixTransformer extends OperationNodeTransformer {
  readonly #prefix: string
  readonly #tables: ReadonlySet<string>

  constructor(prefix: string, tables: ReadonlySet<string>) {
    super()
    this.#prefix = prefix
    this.#tables = tables
  }

  protected override transformSchemableIdentifier(
    ...parts: Parameters<OperationNodeTransformer['transformSchemableIdentifier']>
  ): SchemableIdentifierNode {
    const node = super.transformSchemableIdentifier(...parts)
    if (!this.#tables.has(node.identifier.name)) return node
    return { ...node, identifier: { ...node.identifier, name: `${this.#prefix}${node.identifier.name}` } }
  }
}
