import { describe, expect, it } from 'vitest'
import { argumentsOf, fieldsOf } from './input-form.ts'

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

describe('the form of a tool', () => {
  it('has a field for each parameter, those that must be filled in first', () => {
    const fields = fieldsOf(schema)
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

  it('holds what the page knows rather than what is usual', () => {
    expect(fieldsOf(schema, { hostId: '3' }).find(({ name }) => name === 'hostId')?.initial).toBe('3')
  })

  it('sends values of the types that were asked for, and nothing for a field left empty', () => {
    const typed = { sql: 'SELECT 1', hostId: '2', level: '', isDeep: 'true', names: '["x"]' }
    expect(argumentsOf(fieldsOf(schema), typed)).toEqual({ sql: 'SELECT 1', hostId: 2, isDeep: true, names: ['x'] })
    expect(argumentsOf(fieldsOf({}), typed)).toEqual({})
  })

  it('names a field that does not fit', () => {
    expect(() => argumentsOf(fieldsOf(schema), { names: 'x' })).toThrow('names must be JSON')
  })
})
