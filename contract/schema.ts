/**
 * Schemas of what merchants send and see: plain JSON Schema, which Ajv and the OpenAPI documents read as it is, and the
 * type of the values for the compiler.
 */

/** A JSON object of any form. */
export type Json = Readonly<Record<string, unknown>>

declare const valueType: unique symbol

/** A JSON schema. `T` is the type of what it accepts; no schema holds it. */
export type Schema<T = unknown> = Json & { readonly [valueType]?: T }

/** The type of what a schema accepts. */
export type Static<S> = S extends { readonly [valueType]?: infer T } ? T : never

/** The fields of an object, by their schemas. */
export type Properties = Readonly<Record<string, Schema>>

/** An object in which the `Optional` fields may be absent. */
export type ObjectOf<P extends Properties, Optional extends keyof P> = {
  readonly [Name in Exclude<keyof P, Optional>]: Static<P[Name]>
} & { readonly [Name in Optional]?: Static<P[Name]> }
