/** A schema of an OpenAPI document. */
export type Schema = Record<string, unknown>

/** The keyword with the export name of a schema. It is removed from the document. */
export const exportNameKeyword = 'x-export-name'
/** The keyword of a schema that is replaced by one for any value. */
export const anyKeyword = 'x-any'
/** The keyword of a placeholder for a component whose name is not yet known. */
const placeholderKeyword = 'x-shape'
const componentPath = '#/components/schemas/'

/** Keywords that describe the use of a component, and that stay next to its reference. */
const useKeywords = ['description', 'default', 'nullable', 'deprecated', 'example'] as const

/** A shape of the document: its schema, in which nested shapes are placeholders, and the names it can get. */
interface Shape {
  schema: Schema
  /** Whether only request bodies and parameters contain the shape. */
  isInput: boolean
  exportNames: Set<string>
  /** The places of the shape: its named ancestor and the properties below it, separated by dots. */
  placeNames: Set<string>
}

/** Collects the shapes of a document, so that each becomes one named component. */
export class ComponentCollector {
  /** The schemas that refer to themselves, by the name in their references. */
  readonly #recursive: Readonly<Record<string, Schema>>
  /** Names that generators of clients use for types of their own. */
  readonly #reserved: ReadonlySet<string>
  readonly #shapes = new Map<string, Shape>()
  readonly #ids = new Map<string, string>()
  readonly #names = new Map<string, string>()
  #isInput = false

  constructor(recursive: Readonly<Record<string, Schema>>, reserved: ReadonlySet<string>) {
    this.#recursive = recursive
    this.#reserved = reserved
  }

  /** Returns the schema with placeholders instead of objects, enums and unions. `name` is the name of its place. */
  collect(schema: Schema, name: string, isInput: boolean): Schema {
    this.#isInput = isInput
    return this.#visit(schema, name)
  }

  /** Names the shapes and returns them as components, sorted by name. */
  components(): Record<string, Schema> {
    assignNames(this.#shapes, this.#names, this.#reserved)
    return Object.fromEntries(
      [...this.#shapes]
        .map(([id, { schema }]) => [requireName(this.#names, id), this.resolve(schema)] as const)
        .toSorted(([left], [right]) => (left < right ? -1 : 1)),
    )
  }

  /** Returns a value with references instead of placeholders; only after `components`. */
  resolve<T>(value: T): T {
    // The reviver keeps the type of everything but placeholders.
    return JSON.parse(JSON.stringify(value), (_key, each: unknown) => {
      if (!isSchema(each)) return each
      // A discriminator maps values to references as texts.
      if (isSchema(each.mapping) && 'propertyName' in each)
        return { ...each, mapping: mapValues(each.mapping, (reference) => toSchema(reference).$ref) }
      if (typeof each[placeholderKeyword] !== 'string') return each
      return { $ref: `${componentPath}${requireName(this.#names, each[placeholderKeyword])}` }
    }) as T
  }

  #visit(given: Schema, place: string, isVariant = false): Schema {
    if (typeof given.$ref === 'string') return this.#visitRecursive(given.$ref, place)
    const { [exportNameKeyword]: exportName, ...schema } = given
    const name = textOf(exportName) ?? place
    const collected = this.#visitChildren(isVariant ? schema : describeLiterals(schema), name)
    if (!isNameable(collected)) return collected
    const [uses, shape] = splitUse(collected)
    const placeholder = this.#placeholderOf(this.#findShape(formatKey(shape), shape), exportName, place)
    return Object.keys(uses).length === 0 ? placeholder : describeUse(uses, shape, placeholder)
  }

  /** Visits a schema that refers to itself. It is identified by its name, because its content contains itself. */
  #visitRecursive(reference: string, name: string): Schema {
    const key = reference.slice(componentPath.length)
    const { [exportNameKeyword]: exportName, [anyKeyword]: isAny, ...schema } = this.#recursive[key] ?? {}
    if (isAny === true) return {}
    const isKnown = this.#ids.has(reference)
    const id = this.#findShape(reference, {})
    const shape = this.#shapes.get(id)
    if (shape && !isKnown) shape.schema = this.#visitChildren(schema, textOf(exportName) ?? name)
    return this.#placeholderOf(id, exportName, name)
  }

  #visitChildren(schema: Schema, name: string): Schema {
    const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema
    const discriminator = findDiscriminator(anyOf ?? oneOf)
    const variants = (listed: unknown) =>
      Array.isArray(listed)
        ? listed.map((each: Schema, index) =>
            this.#visit(each, `${name}${nameVariant(each, index)}`, discriminator === undefined),
          )
        : undefined
    const [any, one] = [variants(anyOf), variants(oneOf)]
    const mapped = any ?? one ?? []
    return withoutUndefined({
      ...schema,
      discriminator: discriminator && {
        propertyName: discriminator.name,
        mapping: Object.fromEntries(discriminator.values.map((value, index) => [value, mapped[index]])),
      },
      properties: isSchema(properties)
        ? mapValues(properties, (value, key) => this.#visit(toSchema(value), nameProperty(name, key, properties)))
        : undefined,
      items: isSchema(items) ? this.#visit(items, toSingular(name)) : undefined,
      additionalProperties: isSchema(additionalProperties)
        ? this.#visit(additionalProperties, `${toSingular(name)}Value`)
        : additionalProperties,
      anyOf: any,
      oneOf: one,
      allOf: variants(allOf),
    })
  }

  /** Returns the id of the shape with this key, which is added unless it is known. */
  #findShape(key: string, schema: Schema): string {
    const id = this.#ids.get(key) ?? String(this.#ids.size)
    this.#ids.set(key, id)
    if (!this.#shapes.has(id))
      this.#shapes.set(id, { schema, isInput: this.#isInput, exportNames: new Set(), placeNames: new Set() })
    return id
  }

  #placeholderOf(id: string, exportName: unknown, name: string): Schema {
    const shape = this.#shapes.get(id)
    if (typeof exportName === 'string') shape?.exportNames.add(exportName)
    shape?.placeNames.add(name)
    return { [placeholderKeyword]: id }
  }
}

/** Gives each shape the shortest free name, of the best kind that it has. */
const assignNames = (
  shapes: ReadonlyMap<string, Shape>,
  names: Map<string, string>,
  reserved: ReadonlySet<string>,
): void => {
  const taken = new Set<string>()
  const avoidReserved = (name: string) =>
    reserved.has(name) ? name.replace(/Response$/, 'Result').replace(/Request$/, 'Body') : name
  const inputNames = (those: ReadonlySet<string>) => [...those].map((name) => `${name}Input`)
  const kinds: ((shape: Shape) => Iterable<string>)[] = [
    ({ schema }) => standardNames(schema, names),
    ({ exportNames }) => exportNames,
    // Maps of named shapes.
    ({ schema }) => standardNames(schema, names),
    ({ isInput, exportNames }) => (isInput ? inputNames(exportNames) : []),
    ({ placeNames }) => new Set([...placeNames].map(shortenPlace)),
    ({ isInput, placeNames }) => (isInput ? inputNames(new Set([...placeNames].map(shortenPlace))) : []),
    ({ placeNames }) => new Set([...placeNames].map(joinPlace)),
    ({ isInput, placeNames }) => (isInput ? inputNames(new Set([...placeNames].map(joinPlace))) : []),
    ({ placeNames }) => [...placeNames].map((name) => `${joinPlace(name)}Data`),
    ({ placeNames }) => [...placeNames].flatMap((name) => ['2', '3', '4'].map((count) => `${joinPlace(name)}${count}`)),
  ]
  for (const candidates of kinds) {
    for (const [id, shape] of shapes) {
      if (names.has(id)) continue
      const free = [...candidates(shape)]
        .map(avoidReserved)
        .toSorted(compareNames)
        .find((name) => !taken.has(name.toLowerCase()))
      if (free === undefined) continue
      names.set(id, free)
      taken.add(free.toLowerCase())
    }
  }
}

const joinPlace = (place: string): string => place.replaceAll('.', '')

/** Returns the name of a place from its ends: the named ancestor, and the last property. */
const shortenPlace = (place: string): string => joinPlace(place.replace(/\..*\./, ''))

const requireName = (names: ReadonlyMap<string, string>, id: string): string => {
  const name = names.get(id)
  if (name === undefined) throw new Error(`shape ${id} has no name`)
  return name
}

/** Splits a schema into the keywords that describe its use, and the shape. `null` of a nullable enum is a use. */
const splitUse = (schema: Schema): [uses: Schema, shape: Schema] => {
  const uses = Object.fromEntries(useKeywords.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])))
  const shape = Object.fromEntries(Object.entries(schema).filter(([key]) => !(key in uses)))
  if (Array.isArray(shape.enum)) shape.enum = shape.enum.filter((value) => value !== null)
  return [uses, shape]
}

/**
 * Returns a reference with the keywords of its use. Null is a variant next to the reference, because validators check
 * null against the referenced schema too. Generators of clients support no default objects.
 */
const describeUse = ({ default: fallback, nullable, ...uses }: Schema, { type }: Schema, reference: Schema): Schema => {
  const kept = { ...uses, ...(isSchema(fallback) || fallback == null ? {} : { default: fallback }) }
  if (nullable !== true) return Object.keys(kept).length === 0 ? reference : { ...kept, allOf: [reference] }
  return { ...kept, anyOf: [reference, { type: type ?? 'string', nullable, enum: [null] }] }
}

/**
 * Describes properties with only one value instead of declaring them as enums, which would be types of their own.
 * Variants of a union without a discriminator keep theirs, because they distinguish the variants.
 */
const describeLiterals = (schema: Schema): Schema =>
  isSchema(schema.properties)
    ? { ...schema, properties: mapValues(schema.properties, (property) => describeLiteral(toSchema(property))) }
    : schema

const describeLiteral = (property: Schema): Schema => {
  const { enum: values, ...rest } = property
  if (isSchema(rest.items)) return { ...rest, items: describeLiteral(rest.items) }
  const [value, ...others] = Array.isArray(values) ? values.filter((each) => each !== null) : []
  if (others.length > 0) return property
  if (typeof value === 'boolean') return { ...rest, description: `Always ${value}.` }
  if (typeof value !== 'string' && typeof value !== 'number') return property
  const description = `Always \`${value}\`.`
  if (Number.isInteger(value)) return { type: 'integer', minimum: value, maximum: value, description }
  return typeof value === 'number'
    ? { ...rest, minimum: value, maximum: value, description }
    : { ...rest, pattern: `^${value.replaceAll(/[^\w-]/g, '.')}$`, description }
}

/** Returns whether a schema becomes a component: objects, enums, and unions of components. */
const isNameable = (schema: Schema): boolean => {
  if (Array.isArray(schema.enum)) return schema.enum.some((value) => value !== null)
  if (schema.type === 'object') return true
  const { anyOf, oneOf } = schema
  const variants: unknown[] = [anyOf, oneOf].flatMap((listed) => (Array.isArray(listed) ? listed : []))
  return variants.some((each) => JSON.stringify(each).includes(`"${placeholderKeyword}"`))
}

/** Returns the name of a shape that needs no context: an empty object, or a map by the type of its values. */
const standardNames = ({ type, properties, additionalProperties, ...rest }: Schema, names: Map<string, string>) => {
  const hasProperties = isSchema(properties) && Object.keys(properties).length > 0
  if (type === 'boolean' && JSON.stringify(rest.enum) === '[true]') return ['Success']
  if (type !== 'object' || hasProperties || Object.keys(rest).length > 0) return []
  if (!isSchema(additionalProperties)) return ['EmptyObject']
  const name = nameValue(additionalProperties, names)
  return name === undefined ? [] : [`${name}Map`]
}

const nameValue = (schema: Schema, names: Map<string, string>): string | undefined => {
  const keys = Object.keys(schema)
  if (keys.length === 0) return 'Any'
  if (keys.length === 1 && typeof schema[placeholderKeyword] === 'string') return names.get(schema[placeholderKeyword])
  const isNullable = schema.nullable === true
  const others = keys.filter((key) => !['type', 'nullable', 'format'].includes(key))
  if (typeof schema.type !== 'string' || others.length > 0) return undefined
  return `${isNullable ? 'Nullable' : ''}${toPascal(schema.type)}`
}

/** Short names first, then in alphabetical order. */
const compareNames = (left: string, right: string): number => left.length - right.length || (left < right ? -1 : 1)

/** Returns the property that has another text in each variant of a union, and these texts; undefined without one. */
const findDiscriminator = (variants: unknown): { name: string; values: string[] } | undefined => {
  if (!Array.isArray(variants)) return undefined
  const properties = variants.map((each) => toSchema(toSchema(each).properties))
  const valuesOf = (name: string) =>
    properties.flatMap((each) => {
      const { enum: values } = toSchema(each[name])
      return Array.isArray(values) && values.length === 1 && typeof values[0] === 'string' ? [values[0]] : []
    })
  const found = Object.keys(properties[0] ?? {}).find((name) => new Set(valuesOf(name)).size === variants.length)
  return found === undefined ? undefined : { name: found, values: valuesOf(found) }
}

/** Returns the suffix of a variant of a union: the value of its discriminator, else its position. */
const nameVariant = (schema: Schema, index: number): string => {
  const properties = isSchema(schema.properties) ? Object.values(schema.properties) : []
  const literal = properties
    .map((each) => toSchema(each).enum)
    .find((values) => Array.isArray(values) && values.length === 1)
  return Array.isArray(literal) ? toPascal(String(literal[0])) : `Option${index + 1}`
}

/** Returns a key that is equal for equal schemas, in any order of their keywords. */
const formatKey = (value: unknown): string =>
  JSON.stringify(value, (key, each: unknown) => {
    if (key === 'required' && Array.isArray(each)) return each.toSorted()
    return isSchema(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : each
  })

/** Returns a text in PascalCase. */
export const toPascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Returns the name of the place of a property. The data of a response is named like the response. */
const nameProperty = (parent: string, key: string, siblings: Schema): string => {
  const envelope =
    'success' in siblings && parent.endsWith('Response') ? parent.slice(0, -'Response'.length) : undefined
  if (envelope === undefined) return `${parent}.${toPascal(key)}`
  return key === 'data' ? envelope : `${envelope}.${toPascal(key)}`
}

const toSingular = (name: string): string => {
  if (/(ss|us|is)$/.test(name)) return `${name}Item`
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(ch|sh|x|ss)es$/.test(name)) return name.slice(0, -2)
  return name.endsWith('s') ? name.slice(0, -1) : `${name}Item`
}

/** Returns whether a value is an object, such as a schema. */
export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const toSchema = (value: unknown): Schema => (isSchema(value) ? value : {})

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const withoutUndefined = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))

/** Returns an object with the same keys and the results of `map` as its values. */
export const mapValues = <T, R>(
  object: Readonly<Record<string, T>>,
  map: (value: T, key: string) => R,
): Record<string, R> => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
