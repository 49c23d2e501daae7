type Props = Readonly<Record<string, unknown>>;

/** The part of React that Swagger UI passes to plugins. */
interface System {
  readonly React: { createElement(type: unknown, props: object, ...children: unknown[]): unknown };
}

/** Puts a component into a landmark: Swagger UI's own `main` contains only the operations. */
const inside =
  (landmark: string, label: string) =>
  (Original: unknown, { React }: System) =>
  (props: Props) =>
    React.createElement(landmark, { "aria-label": label }, React.createElement(Original, props));

/** Names a field that has no label. */
const labeled =
  (name: (props: Props) => unknown) =>
  (Original: unknown, { React }: System) =>
  (props: Props) =>
    React.createElement(
      "label",
      {},
      React.createElement("span", { className: "parley-hidden" }, name(props)),
      React.createElement(Original, props),
    );

/** Adds a hidden heading: that of the schemas is an h4, after the h2 of the webhooks. */
const afterHeading =
  (text: string) =>
  (Original: unknown, { React }: System) =>
  (props: Props) =>
    React.createElement(
      "div",
      {},
      React.createElement("h3", { className: "parley-hidden" }, text),
      React.createElement(Original, props),
    );

/** Swagger UI plugin: corrects markup that assistive technology misreads. */
export const accessible = () => ({
  components: {
    // The document has one server, this one: a list without a name and with one entry, "/".
    ServersContainer: () => null,
  },
  wrapComponents: {
    InfoContainer: inside("section", "First steps"),
    AuthorizeBtnContainer: inside("section", "Authorization"),
    // The only name of the button that closes the dialog.
    CloseIcon:
      (Original: unknown, { React }: System) =>
      (props: Props) =>
        React.createElement(
          "span",
          { role: "img", "aria-label": "Close" },
          React.createElement(Original, props),
        ),
    // Names that differ from the visible text, such as "Apply credentials" for "Authorize", cannot be spoken.
    Button:
      (Original: unknown, { React }: System) =>
      (props: Props) =>
        React.createElement(Original, { ...props, "aria-label": undefined }),
    JsonSchema_string: labeled(({ description }) => description),
    RequestBodyEditor: labeled(() => "Request body"),
    Models: afterHeading("Data types"),
    FilterContainer: inside("search", "Operations"),
    // Swagger UI puts a link into the button that opens an operation. The button also changes the address.
    OperationSummaryPath:
      (Original: unknown, { React }: System) =>
      (props: Props) =>
        React.createElement(Original, {
          ...props,
          getComponent: (name: string, ...rest: unknown[]) =>
            name === "DeepLink"
              ? ({ text }: Props) => React.createElement("span", {}, text)
              : (props.getComponent as (...args: unknown[]) => unknown)(name, ...rest),
        }),
  },
});
