import { describe, expect, it } from 'vitest'
import { parseToolArguments, createToolFields } from './input-form.ts'

const schema = {
  properties: {
    hostId: { type: 'integer', minimum: 0, maximum: 99, default: 0, description: 'Position' },
    level: { type: 'string', enum: ['a', 'b'] },
    isDeep: { type: 'boolean' },
    names: { type: 'array' },
    sql: { type: 'string', maxLength: 10 },
  },
  required: ['sql', 'hostId'],
}

describe('tool form', () => {
  it('has a field per parameter, required ones first', () => {
    const fields = createToolFields(schema)
    expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
      ['sql', 'statement'],
      ['hostId', 'number'],
      ['level', 'choice'],
      ['isDeep', 'switch'],
      ['names', 'json'],
    ])
    expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(['sql'])
    expect(fields[1]).toMatchObject({ initial: '0', minimum: 0, maximum: 99, doc: 'Position' })
    expect(fields[2]?.choices).toEqual(['a', 'b'])
  })

  it('prefers values of the page over defaults', () => {
    expect(createToolFields(schema, { hostId: '3' }).find(({ name }) => name === 'hostId')?.initial).toBe('3')
  })

  it('sends typed values and skips empty fields', () => {
    const typed = { sql: 'SELECT 1', hostId: '2', level: '', isDeep: 'true', names: '["x"]' }
    expect(parseToolArguments(createToolFields(schema), typed)).toEqual({
      sql: 'SELECT 1',
      hostId: 2,
      isDeep: true,
      names: ['x'],
    })
    expect(parseToolArguments(createToolFields({}), typed)).toEqual({})
  })

  it('names an invalid field', () => {
    expect(() => parseToolArguments(createToolFields(schema), { names: 'x' })).toThrow('names must be valid JSON')
  })
})
