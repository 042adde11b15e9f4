import { type KyselyPlugin, OperationNodeTransformer, type PrimitiveValueListNode, type ValueNode } from 'kysely'

class NulTransformer extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: replaced(node.value) }
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(replaced) }
  }
}

const replaced = <T>(value: T): T | string => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value)

const transformer = new NulTransformer()

/**
 * Replaces the character NUL in texts: PostgreSQL has none with it and fails the query, and libSQL reads what it kept only up to
 * there. What callers write may have one.
 */
export const withoutNul: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
}
