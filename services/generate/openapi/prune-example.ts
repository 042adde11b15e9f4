import { isNullableReference, isSchema, type Schema } from './components.ts'

const prefix = '#/components/schemas/'

/**
 * Returns an example without null for references. OpenAPI 3.0 allows null next to a reference, but validators check it
 * against the referenced schema.
 */
export const pruneExample = (value: unknown, schema: Schema, components: Readonly<Record<string, Schema>>): unknown => {
  const variants = listVariants(schema, components)
  if (Array.isArray(value)) {
    const items = variants.map((each) => each.items).find(isSchema)
    return items === undefined ? value : value.map((each) => pruneExample(each, items, components))
  }
  if (!isSchema(value)) return value
  const properties = Object.assign({}, ...variants.map((each) => each.properties))
  const others = variants.map((each) => each.additionalProperties).find(isSchema)
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const property: unknown = properties[key] ?? others
      if (!isSchema(property)) return [[key, each]]
      return each === null && isNullableReference(property) ? [] : [[key, pruneExample(each, property, components)]]
    }),
  )
}

/** Returns the referenced schemas of a schema and of its variants. */
const listVariants = (schema: Schema, components: Readonly<Record<string, Schema>>): Schema[] => {
  if (typeof schema.$ref === 'string') {
    const target = components[schema.$ref.slice(prefix.length)]
    return target === undefined ? [] : listVariants(target, components)
  }
  const nested = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((listed) => (Array.isArray(listed) ? listed : []))
  return [schema, ...nested.filter(isSchema).flatMap((each) => listVariants(each, components))]
}
